// How @hey-api/openapi-ts makes the client: calls with fetch, and zod schemas that every request and answer must meet.
import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig({
  input: "partner.json",
  output: { path: "client", importFileExtension: ".js" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "zod", { name: "@hey-api/sdk", validator: "zod" }],
});
