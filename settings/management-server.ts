import { Type } from 'typebox';
import { section } from './section.ts';

/** A place of its own for the operational interface, as Spring Boot calls it. */
export const managementServer = Type.Object(
  {
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description:
          'Port of the operational HTTP interface instead of server.port, where nothing listens then. Left out: server.port.',
      }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Address the HTTP interface listens on instead of server.address. Left out: server.address.',
      }),
    ),
  },
  section,
);
