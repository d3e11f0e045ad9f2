import { isSection } from '../settings/schema/document.ts';
import type { Problem } from '../settings/schema/problem.ts';
import { shownValue } from '../settings/schema/shown-value.ts';
import { type Layer, layerAt } from './overlay.ts';
import type { SourceFile } from './source-file.ts';

/** Key of consumer.yaml and its overlays below which several consumers are. */
const CONSUMERS = 'consumers';

/** One consumer of an environment: what it is made of, the uppermost layer last. */
interface ListedConsumer {
  /** Its name in the list; `undefined` when the files have no list and so are one consumer. */
  readonly name: string | undefined;
  readonly layers: readonly Layer[];
}

/** The consumers of an environment, and what is wrong with their list. */
export interface ConsumerList {
  readonly consumers: readonly ListedConsumer[];
  readonly problems: readonly Problem[];
}

/** An entry of the list in one file. */
interface Entry {
  readonly name: string;
  readonly layer: Layer;
}

const hasList = ({ value }: SourceFile): boolean => isSection(value) && Object.hasOwn(value, CONSUMERS);

function entryProblem(source: SourceFile, names: readonly unknown[], index: number): Problem[] {
  const name = names[index];
  const place = [source.locate([CONSUMERS, index, 'name']), source.locate([CONSUMERS, index])].find(Boolean);
  const about = { path: `${CONSUMERS}[${index}].name`, source: place ?? source.name };
  const allowed = 'a name that no other consumer of the file has: overlays find the consumer by it';
  if (typeof name !== 'string') {
    return [
      {
        ...about,
        message: 'is missing or no text',
        allowed,
        ...(name === undefined ? {} : { given: shownValue(name) }),
      },
    ];
  }
  const first = names.indexOf(name);
  const message = `is that of ${CONSUMERS}[${first}] as well (${source.locate([CONSUMERS, first, 'name'])})`;
  return first === index ? [] : [{ ...about, message, given: shownValue(name), allowed }];
}

function listProblems(source: SourceFile): Problem[] {
  const list = isSection(source.value) ? source.value[CONSUMERS] : undefined;
  if (!hasList(source)) {
    return [];
  }
  if (!Array.isArray(list) || list.length === 0) {
    const place = source.locate([CONSUMERS]) ?? source.name;
    const allowed = 'a list with a map for each consumer: its name, and what differs from the part above the list';
    return [{ path: CONSUMERS, message: 'is no list of consumers', given: shownValue(list), allowed, source: place }];
  }
  const names = list.map((entry: unknown) => (isSection(entry) ? entry['name'] : undefined));
  return names.flatMap((_name, index) => entryProblem(source, names, index));
}

/** With a list the name above it names no consumer. */
function nameProblems(source: SourceFile): Problem[] {
  return isSection(source.value) && source.value['name'] !== undefined
    ? [
        {
          path: 'name',
          message: `is above a list of ${CONSUMERS}, each of which has its name`,
          given: shownValue(source.value['name']),
          allowed: `nothing here, and a name in each of ${CONSUMERS}`,
          source: source.locate(['name']) ?? source.name,
        },
      ]
    : [];
}

function entries(source: SourceFile): Entry[] {
  const list = isSection(source.value) ? source.value[CONSUMERS] : undefined;
  return (Array.isArray(list) ? list : []).flatMap((value: unknown, index) =>
    isSection(value) && typeof value['name'] === 'string'
      ? [{ name: value['name'], layer: layerAt(source, [CONSUMERS, index], value) }]
      : [],
  );
}

/** A file without its list: what all its consumers have in common. */
function commonLayer(source: SourceFile): Layer {
  if (!isSection(source.value)) {
    return layerAt(source, [], source.value);
  }
  const { [CONSUMERS]: _list, ...common } = source.value;
  return layerAt(source, [], common);
}

/**
 * The consumers of an environment. Without a list they are one: the files laid over each other. With `consumers` each
 * entry is laid over what the files have in common, and entries of one name over each other; an overlay's further
 * entries are further consumers.
 *
 * @param sources consumer.yaml and what is laid over it, the uppermost last
 */
export function consumerList(sources: readonly SourceFile[]): ConsumerList {
  const common = sources.map(commonLayer);
  if (!sources.some(hasList)) {
    return { consumers: [{ name: undefined, layers: common }], problems: [] };
  }
  const all = sources.flatMap(entries);
  const names = [...new Set(all.map(({ name }) => name))];
  return {
    consumers: names.map((name) => ({
      name,
      layers: [...common, ...all.filter((entry) => entry.name === name).map(({ layer }) => layer)],
    })),
    problems: sources.flatMap((source) => [...listProblems(source), ...nameProblems(source)]),
  };
}
