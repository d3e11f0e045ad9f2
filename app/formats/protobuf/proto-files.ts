import protobuf from 'protobufjs';
import { printable } from '../../logging/printable-text.ts';
import { BUILT_IN_FILES, BUILT_IN_IMPORTS } from './built-in-files.ts';

/** A schema that no value can be read with. The message says why, and that of which schema. */
export class ProtoSchemaError extends Error {
  override name = 'ProtoSchemaError';
}

/** Characters of a file's text. */
const MOST_TEXT = 1_048_576;
/** Characters of a fault of the text in a message. */
const MOST_SHOWN = 200;

/**
 * Fields of a message by number, kept while it is parsed. The parser forgets them with each field that it adds, and finds
 * all anew for the next one: of a message of 5,000 fields that is seconds.
 */
const FIELDS = new WeakMap<protobuf.Type, Record<number, protobuf.Field>>();
const addToMessage = protobuf.Type.prototype.add;
protobuf.Type.prototype.add = function add(object) {
  const byNumber: Record<number, protobuf.Field> = FIELDS.get(this) ?? this.fieldsById;
  FIELDS.set(this, byNumber);
  Reflect.set(this, '_fieldsById', byNumber);
  const added = addToMessage.call(this, object);
  if (object instanceof protobuf.Field && object.extend === undefined) {
    byNumber[object.id] = object;
  }
  return added;
};

const OPTIONS: protobuf.IParseOptions = { keepCase: true };

/** A file of a schema, by the name that others import it by. */
interface ProtoFile {
  readonly name: string;
  readonly text: string;
}

export function shown(text: string): string {
  const line = printable(text);
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line;
}

/** What the parser throws for a text is no fault of this program. */
function refuse(error: unknown, file: string | null): never {
  const where = file === null ? '' : `in its import ${shown(file)}: `;
  throw new ProtoSchemaError(`${where}${shown(error instanceof Error ? error.message : String(error))}`);
}

function parsed({ name, text }: ProtoFile, root: protobuf.Root, isMain: boolean): protobuf.IParserResult {
  if (text.length > MOST_TEXT) {
    throw new ProtoSchemaError(`the text of ${isMain ? 'it' : shown(name)} has more than ${MOST_TEXT} characters`);
  }
  try {
    return protobuf.parse(text, root, OPTIONS);
  } catch (error) {
    return refuse(error, isMain ? null : name);
  }
}

/** The text of a file by the name that it is imported by; `null`: there is none. */
export type ImportedText = (name: string) => string | null;

const isMessage = (object: protobuf.ReflectionObject): object is protobuf.Type => object instanceof protobuf.Type;

/** Whether a message is defined by a group of proto2: the parser says so, its declarations do not. */
export const isGroup = (type: protobuf.Type): boolean => Reflect.get(type, 'group') === true;

/** Messages in the order of a file, as Confluent's serializers count them: a group is none. */
export const messagesIn = (namespace: protobuf.NamespaceBase): readonly protobuf.Type[] =>
  namespace.nestedArray.filter(isMessage).filter((type) => !isGroup(type));

/** What the texts of a schema define. */
export interface ParsedFiles {
  readonly root: protobuf.Root;
  /** Messages of the schema's own text that are in no other one. */
  readonly messages: readonly protobuf.Type[];
}

/**
 * Parses a schema and all files that it imports: those given, else those that are built in.
 *
 * @throws ProtoSchemaError where a text is none of a schema, or a file is missing
 */
export function parseFiles(text: string, imported: ImportedText): ParsedFiles {
  const root = new protobuf.Root();
  const main = parsed({ name: '', text }, root, true);
  const namespace = main.package === undefined ? root : root.lookup(main.package);
  const messages = namespace instanceof protobuf.Namespace ? messagesIn(namespace) : [];
  parseImports(importsOf(main), root, imported);
  try {
    root.resolveAll();
  } catch (error) {
    refuse(error, null);
  }
  return { root, messages };
}

function parseImports(names: readonly string[], root: protobuf.Root, imported: ImportedText): void {
  const wanted = [...names];
  const known = new Set<string>();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (known.has(name)) {
      continue;
    }
    known.add(name);
    const given = imported(name);
    const text = given ?? BUILT_IN_FILES.get(name);
    if (text === undefined) {
      throw new ProtoSchemaError(`it imports ${shown(name)}, which is neither given nor built in`);
    }
    const imports = importsOf(parsed({ name, text }, root, false));
    wanted.push(...imports, ...(given === null ? (BUILT_IN_IMPORTS.get(name) ?? []) : []));
  }
}

const importsOf = ({ imports = [], weakImports = [] }: protobuf.IParserResult): readonly string[] => [
  ...imports,
  ...weakImports,
];
