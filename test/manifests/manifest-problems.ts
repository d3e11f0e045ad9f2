import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

/** Any object of Kubernetes, as far as it is looked into before its schema is known. */
interface AnyManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const FOLDER = join(import.meta.dirname, 'schemas');

interface Bundle {
  readonly kinds: Readonly<Record<string, object>>;
  readonly definitions: object;
}

type Validator = (manifest: object) => readonly ErrorObject[];

/** Compiles a kind's schema when the first object of the kind comes: most tests have few kinds. */
function lazily(compile: () => ValidateFunction): Validator {
  let validate: ValidateFunction | undefined;
  return (manifest) => {
    validate ??= compile();
    return validate(manifest) ? [] : (validate.errors ?? []);
  };
}

function readValidators(file: string): [string, Validator][] {
  const { kinds, definitions } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Bundle;
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, unicodeRegExp: false });
  ajv.addSchema({ $id: 'bundle', definitions });
  return Object.entries(kinds).map(([kind, schema]) => {
    const absolute = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/definitions/', '"bundle#/definitions/'),
    ) as object;
    return [kind, lazily(() => ajv.compile(absolute))];
  });
}

/**
 * By apiVersion and kind; kinds of Kubernetes have one for the oldest supported release and one for a current release.
 */
const VALIDATORS = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.schema.json'))
  .flatMap(readValidators);

const describeError = ({ instancePath, message = '', params }: ErrorObject): string =>
  `${instancePath === '' ? '/' : instancePath} ${message} ${JSON.stringify(params)}`;

/**
 * What the API server of any supported Kubernetes would refuse an object for: unknown and missing fields, wrong types,
 * names and labels it does not take. The schemas are those that Kubernetes and the operators publish (`npm run
 * schemas`).
 *
 * @returns one line per problem; none for a valid object. A kind without a schema is a problem.
 */
export function manifestProblems(manifest: AnyManifest): string[] {
  const kind = `${manifest.apiVersion}/${manifest.kind}`;
  const validators = VALIDATORS.filter(([name]) => name === kind);
  const problems = validators.flatMap(([, validate]) => validate(manifest)).map(describeError);
  const all = validators.length === 0 ? ['there is no schema for this kind'] : [...new Set(problems)];
  return all.map((problem) => `${kind} ${manifest.metadata.name}: ${problem}`);
}
