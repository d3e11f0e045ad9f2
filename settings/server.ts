import { Type } from 'typebox';
import { section } from './section.ts';
import { ssl } from './ssl.ts';

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
