import protobuf from 'protobufjs';
import {
  type ImportedText,
  isGroup,
  messagesIn,
  type ParsedFiles,
  ProtoSchemaError,
  parseFiles,
  shown,
} from './proto-files.ts';
import { MessageType, NO_SYMBOLS, ProtoField, type ProtoKind, WIRE_OF } from './proto-type.ts';

/** A schema, with the files that it imports. */
export interface ProtoText {
  /** Of the registry, or the path of its file. */
  readonly id: number | string;
  readonly text: string;
  readonly imported: ImportedText;
}

type ProtoDefinition = protobuf.Type | protobuf.Enum;

/** Key and value of an entry of a map. */
const KEY = 1;
const VALUE = 2;

const isScalar = (type: string): type is Exclude<ProtoKind, 'enum' | 'message'> =>
  Object.hasOwn(WIRE_OF, type) && type !== 'enum' && type !== 'message';

/** Without the point that protobufjs begins it with. */
const nameOf = (object: protobuf.ReflectionObject): string => object.fullName.replace(/^\./, '');

/**
 * A schema of Protobuf: proto2, proto3 or an edition. Names are those of its text. Of its options those of `features`
 * and `packed` count; defaults of proto2 are not applied.
 */
export class ProtoSchema {
  readonly #id: number | string;
  readonly #files: ParsedFiles;
  readonly #definitions = new Map<string, ProtoDefinition>();
  /** Packages and messages: what a name may begin with. */
  readonly #scopes = new Set<string>();
  readonly #types = new Map<protobuf.Type, MessageType>();
  readonly #symbols = new Map<protobuf.Enum, ReadonlyMap<number, Buffer>>();

  /** @throws ProtoSchemaError where its text is none */
  constructor({ id, text, imported }: ProtoText) {
    this.#id = id;
    this.#files = this.#named(() => parseFiles(text, imported));
    this.#define(this.#files.root);
  }

  /** Full names of its messages, those of files that it imports left out. */
  get names(): readonly string[] {
    const all = (types: readonly protobuf.Type[]): readonly string[] =>
      types.flatMap((type) => [nameOf(type), ...all(messagesIn(type))]);
    return all(this.#files.messages);
  }

  /**
   * A message by its place in the text, and by that of each message within.
   *
   * @returns `undefined` where it has none there
   * @throws ProtoSchemaError where a field of it has no type
   */
  messageAt(indexes: readonly number[]): MessageType | undefined {
    const [first = -1, ...others] = indexes;
    const found = others.reduce<protobuf.Type | undefined>(
      (from, index) => from && messagesIn(from)[index],
      this.#files.messages[first],
    );
    return found && this.#named(() => this.#message(found));
  }

  /** A message by its full name. @throws ProtoSchemaError where a field of it has no type */
  message(name: string): MessageType | undefined {
    const found = this.#definitions.get(name);
    return found instanceof protobuf.Type ? this.#named(() => this.#message(found)) : undefined;
  }

  #named<Made>(make: () => Made): Made {
    try {
      return make();
    } catch (error) {
      if (error instanceof ProtoSchemaError) {
        throw new ProtoSchemaError(`its schema ${this.#id} is no Protobuf schema: ${error.message}`);
      }
      throw error;
    }
  }

  #define(namespace: protobuf.NamespaceBase): void {
    this.#scopes.add(nameOf(namespace));
    for (const object of namespace.nestedArray) {
      if (object instanceof protobuf.Type || object instanceof protobuf.Enum) {
        this.#definitions.set(nameOf(object), object);
      }
      if (object instanceof protobuf.Namespace || object instanceof protobuf.Type) {
        this.#define(object);
      }
    }
  }

  /** Types that lead to others are made one after the other, as they may be many within each other. */
  #message(root: protobuf.Type): MessageType {
    const made = this.#typeOf(root);
    for (const [definition, type] of this.#types) {
      if (!this.#complete.has(type)) {
        this.#complete.add(type);
        type.setFields(this.#fieldsOf(definition));
      }
    }
    return made;
  }

  readonly #complete = new Set<MessageType>();

  #typeOf(definition: protobuf.Type): MessageType {
    const known = this.#types.get(definition);
    if (known !== undefined) {
      return known;
    }
    const type = new MessageType(nameOf(definition));
    this.#types.set(definition, type);
    return type;
  }

  #fieldsOf(definition: protobuf.Type): readonly ProtoField[] {
    const { fieldsArray } = definition;
    const places = new Map(fieldsArray.map((field, place) => [field, place]));
    return fieldsArray.map((field, place) => {
      const scope = nameOf(field.declaringField?.parent ?? definition);
      const shape = field.map ? 'map' : field.repeated ? 'list' : 'single';
      const rivals = (field.partOf?.fieldsArray ?? []).filter((other) => other !== field);
      const value = this.#valueOf(field.type, scope, nameOf(field));
      const name = this.#fieldName(field, value.definition);
      return new ProtoField({
        ...{ name, number: field.id, place, shape, kind: value.kind, symbols: value.symbols },
        message: field instanceof protobuf.MapField ? entryOf(field.keyType, value) : value.message,
        hasPresence: shape === 'single' && (value.kind === 'message' || Boolean(field.hasPresence)),
        isRequired: field.required,
        rivals: rivals.flatMap((rival) => places.get(rival) ?? []),
      });
    });
  }

  /** An extension has its full name in brackets, as in the JSON of Protobuf; a group that of its type in lower case. */
  #fieldName(field: protobuf.Field, definition: ProtoDefinition | null): string {
    if (field.declaringField !== null) {
      return `[${nameOf(field.declaringField)}]`;
    }
    return definition instanceof protobuf.Type && isGroup(definition) ? definition.name.toLowerCase() : field.name;
  }

  #valueOf(type: string, scope: string, field: string): ValueType {
    if (isScalar(type)) {
      return { kind: type, message: null, symbols: NO_SYMBOLS, definition: null };
    }
    const definition = this.#resolve(type, scope);
    if (definition === undefined) {
      throw new ProtoSchemaError(`the type ${shown(type)} of ${shown(field)} is not defined`);
    }
    return definition instanceof protobuf.Enum
      ? { kind: 'enum', message: null, symbols: this.#symbolsOf(definition), definition }
      : { kind: 'message', message: this.#typeOf(definition), symbols: NO_SYMBOLS, definition };
  }

  /**
   * What a name means (Protocol Buffers, "Packages and Name Resolution"): the innermost scope that has its first part
   * decides. protobufjs also looks into messages beside, and so may find another one.
   */
  #resolve(type: string, scope: string): ProtoDefinition | undefined {
    if (type.startsWith('.')) {
      return this.#definitions.get(type.slice(1));
    }
    const [first = ''] = type.split('.');
    for (let within: string | null = scope; within !== null; within = outer(within)) {
      const prefix = within === '' ? '' : `${within}.`;
      const isFound = type === first ? this.#definitions.has(prefix + first) : this.#scopes.has(prefix + first);
      if (isFound) {
        return this.#definitions.get(prefix + type);
      }
    }
    return undefined;
  }

  /** Of numbers with several names the first one. */
  #symbolsOf(definition: protobuf.Enum): ReadonlyMap<number, Buffer> {
    const known = this.#symbols.get(definition);
    if (known !== undefined) {
      return known;
    }
    const entries = Object.entries(definition.values).toReversed();
    const symbols = new Map(entries.map(([name, number]) => [number, Buffer.from(name, 'utf8')]));
    this.#symbols.set(definition, symbols);
    return symbols;
  }
}

interface ValueType extends Pick<ProtoField, 'kind' | 'message' | 'symbols'> {
  readonly definition: ProtoDefinition | null;
}

const outer = (scope: string): string | null =>
  scope === '' ? null : scope.slice(0, Math.max(0, scope.lastIndexOf('.')));

/** The message that an entry of a map is (Protocol Buffers, "Maps"). */
function entryOf(keyType: string, { kind, message, symbols }: ValueType): MessageType {
  const entry = new MessageType('');
  entry.setFields([
    new ProtoField({ name: 'key', number: KEY, kind: isScalar(keyType) ? keyType : 'string' }),
    new ProtoField({
      ...{ name: 'value', number: VALUE, place: 1, kind, message, symbols },
      hasPresence: kind === 'message',
    }),
  ]);
  return entry;
}
