import { Type } from 'typebox';
import { closed, section } from './schema.ts';

/** TLS of the operational interface, with Spring Boot's names for PEM files. */
const ssl = Type.Object(
  {
    certificate: Type.String({
      minLength: 1,
      description: 'PEM file with the certificate, followed by those of its intermediate authorities.',
    }),
    'certificate-private-key': Type.String({
      minLength: 1,
      description: "PEM file with the certificate's private key, not encrypted.",
    }),
  },
  {
    ...closed,
    description: 'HTTPS for the operational interface; the files are read again when they change. Left out: HTTP.',
  },
);

/** Where the operational interface listens. */
export const server = Type.Object(
  {
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8080,
      description: 'Port of the operational HTTP interface; 0 takes any free one and logs it.',
    }),
    address: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address the HTTP interface listens on.' }),
    ssl: Type.Optional(ssl),
  },
  { ...section, description: 'Where the operational interface listens.' },
);
