export * from "./client/index.js";
export * from "./partner.js";
