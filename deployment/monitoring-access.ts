import { Type } from 'typebox';
import { closed, section } from '../settings/section.ts';
import { objectName, secretKey } from './object-names.ts';

/** The credential that the consumer asks for and that a scrape shows. */
export const monitoringCredentials = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with the credential, made by you in the same namespace.',
    }),
    type: Type.Enum(['bearer', 'basic'], {
      default: 'bearer',
      description: 'bearer: the Secret has a token. basic: it has a username and a password.',
    }),
    keys: Type.Object(
      { token: secretKey('token'), username: secretKey('username'), password: secretKey('password') },
      section,
    ),
  },
  {
    ...closed,
    description:
      'Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left out: everybody who reaches the port.',
  },
);

/** The certificate of the operational interface. */
export const monitoringTls = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret of type kubernetes.io/tls in the same namespace, such as cert-manager makes and renews.',
    }),
    keys: Type.Object(
      { certificate: secretKey('tls.crt'), privateKey: secretKey('tls.key'), authority: secretKey('ca.crt') },
      section,
    ),
    verify: Type.Boolean({
      default: true,
      description:
        'Whether a scrape verifies the certificate: by the authority in the Secret, for the name <name>.<namespace>.svc. Probes never do.',
    }),
  },
  {
    ...closed,
    description: 'HTTPS for the operational interface, probes and scrapes included. Left out: HTTP.',
  },
);

/** What the consumer shows to Spring Boot Admin's server. */
export const monitoringSpringBootAdmin = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with user and password at the server, made by you in the same namespace.',
    }),
    keys: Type.Object({ username: secretKey('username'), password: secretKey('password') }, section),
  },
  {
    ...closed,
    description: 'Credentials for application.spring.boot.admin.client.url. Left out: none.',
  },
);
