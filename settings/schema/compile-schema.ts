import { Ajv, type CodeOptions, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { ALLOWED, SECRET } from './schema.ts';

/**
 * Nearly half of what Ajv takes to compile a schema goes into checking the schema itself, which our tests do, and into
 * optimizing code that runs once: a start waits for it.
 */
const SOON_READY = { validateSchema: false, optimize: false } as const;

/**
 * Ajv as all checks need it.
 *
 * @param code how the validators' code is written, where it is kept. @default it is not kept
 */
export function schemaCompiler(code: CodeOptions = {}): Ajv {
  const { validateSchema, optimize } = SOON_READY;
  const ajv = new Ajv({
    validateSchema,
    code: { optimize, ...code },
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strict: true,
    allowMatchingProperties: true,
    allowUnionTypes: true,
  });
  ajv.addVocabulary([SECRET, ALLOWED]);
  return ajv;
}

const ajv = schemaCompiler();

/**
 * The validator of a schema, which fills in defaults as well; the image's bundle holds that of the settings ready-made.
 */
export function compileSchema(schema: TSchema): ValidateFunction {
  return ajv.compile(schema);
}
