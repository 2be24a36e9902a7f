import type { OpenAPIObject } from '@nestjs/swagger';

type Schemes = NonNullable<NonNullable<OpenAPIObject['components']>['securitySchemes']>;

/** The ways in which the service identifies a caller. */
export const SECURITY_SCHEMES: Schemes = {
  apiToken: { type: 'http', scheme: 'bearer', description: 'An API token, as POST /api/ext/tokens creates it.' },
  ingressLogin: {
    type: 'apiKey',
    in: 'header',
    name: 'Tailscale-User-Login',
    description:
      'The login of the user, which only a trusted proxy in front of the service may send. The operator can configure another name.',
  },
  loginSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-headgate',
    description:
      'The session of a browser in which a user has logged in. Over plain HTTP on the same machine it is named headgate.',
  },
  browserSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'headgate-session',
    description: 'The session of a browser on the same machine that was opened with the one-time token of the start.',
  },
};

/** One of them is enough. Certain users of the same machine need none: the system reports who they are. */
export const SECURITY: NonNullable<OpenAPIObject['security']> = [
  {},
  ...Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
];
