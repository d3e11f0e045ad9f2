import { Type } from 'typebox';
import { closed } from './section.ts';

/** TLS of the operational interface, with Spring Boot's names for PEM files. */
export const ssl = Type.Object(
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
