// An authorization server on loopback: oidc-provider with client credentials and JWT access tokens.
//
// Arguments: the audience, then the client ids. Client `x-es256` gets tokens signed by ES256, and likewise for the other
// algorithms. Every client's secret is `secret`. Prints the issuer when it is ready; ends when its standard input does.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const [audience, ...clientIds] = process.argv.slice(2);
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const scopes = 'lending.offers.accept payments.buyers.create';

function key(alg) {
  const { privateKey } = {
    RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    EdDSA: () => generateKeyPairSync('ed25519'),
  }[alg]();
  return { ...privateKey.export({ format: 'jwk' }), alg, kid: `key-${alg}`, use: 'sig' };
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: clientIds.map((client_id) => ({
      client_id,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      scope: scopes,
    })),
    jwks: { keys: algorithms.map(key) },
    scopes: scopes.split(' '),
    // The Swagger UI page of another origin asks for tokens.
    clientBasedCORS: () => true,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => ({
          audience: resource,
          scope: scopes,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: algorithms.find((alg) => client.clientId.endsWith(alg.toLowerCase())) ?? 'RS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});

process.stdin.resume();
process.stdin.on('end', () => process.exit());
