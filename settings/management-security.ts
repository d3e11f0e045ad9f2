import { Type } from 'typebox';
import { ALLOWED, SECRET } from './schema.ts';
import { section } from './section.ts';

/** Who may read more of the operational interface than the status of the health. */
export const managementSecurity = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._~+/-]+=*$',
        [ALLOWED]: 'letters, digits and . _ ~ + / -, with = at the end only',
        description: 'Token that clients send as Authorization: Bearer. Left out: none is accepted.',
        [SECRET]: true,
      }),
    ),
    username: Type.Optional(
      Type.String({
        pattern: '^[^\\u0000-\\u001f\\u007f:]+$',
        [ALLOWED]: 'any text without a colon or a control character',
        description: 'User that clients send as Authorization: Basic; wants a password. Left out: none is accepted.',
        [SECRET]: true,
      }),
    ),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "That user's password; wants a username.", [SECRET]: true }),
    ),
  },
  section,
);
