import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import type { RecordHeader } from '../../records/record.ts';
import { administerTopicIds } from './admin-requests.ts';
import { boundAnswers, boundIterations } from './answer-patches.ts';
import type { Encoder } from './classes.ts';
import {
  askAnyBroker,
  checkTimeoutsTogether,
  logInLate,
  stopIdleTimer,
  watchAuthentication,
  watchConnections,
} from './connection-patches.ts';
import { boundDecoder } from './decoder-patches.ts';
import { KafkajsEncoder } from './flexible-versions.ts';
import {
  type Classes,
  FUNCTIONS,
  type FunctionPart,
  fileOf,
  internals,
  loadClient,
  replaceInternal,
  replaceModule,
  requireVersion,
} from './internals.ts';
import { CLASSES, requireKnown } from './known-kafkajs.ts';
import { administerKnownTopics, failOverUnknownTopics, metadataResponse } from './topic-patches.ts';

/** A method by its class and name, any method of a class, or a function. */
type PatchedPlace = `${keyof Classes}.${string}` | FunctionPart;

/** By what name, what is replaced, and how. */
type Patch = readonly [name: string, replaced: readonly PatchedPlace[], apply: () => void];

const of = <Name extends keyof Classes>(name: Name): Classes[Name]['prototype'] => internals[name].prototype;

function boundAllAnswers(): void {
  boundDecoder(of('Decoder'));
  boundAnswers(of('Connection'));
}

function setFewTimers(): void {
  stopIdleTimer(of('RequestQueue'));
  checkTimeoutsTogether(of('RequestQueue'));
}

function readEachTopic(): void {
  replaceInternal('metadataResponse', metadataResponse(internals.metadataResponse));
  failOverUnknownTopics(of('Broker'));
}

function administer(): void {
  const create = administerTopicIds(internals.createAdmin);
  replaceInternal('createAdmin', (options) => {
    administerKnownTopics(options);
    return create(options);
  });
}

/**
 * All changes to kafkajs 2.2.4 behind the clock, in the order in which they are made; above each, what kafkajs does as
 * shipped. They are made in memory, before kafkajs is loaded, so they are there after any kind of installation and in
 * the image; nothing on disk is touched. kafkajs has had no release since February 2023: the exact version is pinned in
 * package.json, and another one is refused rather than half patched.
 */
const PATCHES: readonly Patch[] = [
  // Sizes, counts and lengths in an answer are believed: a web server's answer is waited for until the memory ends.
  ['bounded answers', ['Decoder.*', 'Connection.processData', 'Connection.sendAuthRequest'], boundAllAnswers],
  // A login by SCRAM makes as many iterations as the broker asks for: 2^31 take an hour of a thread.
  ['bounded iterations', ['Scram.sendClientFinalMessage'], () => boundIterations(of('Scram'))],
  // A producer takes headers as an object, which keeps neither order nor repeated keys, and fails on one without a
  // value.
  ['headers in order', ['encodeRecord'], () => replaceInternal('encodeRecord', encodeRecord)],
  // A session of less than 10 s is renewed before each request.
  ['late renewal', ['Connection.reauthenticationThreshold'], () => logInLate(of('Connection'))],
  // A broker that refuses a connection is asked again several times a second, for ever.
  ['watched connections', ['Connection.connect', 'Connection.send'], () => watchConnections(of('Connection'))],
  // So is one that refuses a login; and a connection whose login failed half-way stays open, and can never log in
  // again.
  ['watched logins', ['Authenticator.authenticate'], () => watchAuthentication(of('Authenticator'))],
  // One broker that cannot be connected to fails, by chance, what any of them could answer.
  ['any broker', ['BrokerPool.withBroker', 'Cluster.metadata'], () => askAnyBroker(of('BrokerPool'), of('Cluster'))],
  // Each connection re-arms a timer of negative duration for ever (tulios/kafkajs#1751), and looks for overdue requests
  // ten times a second.
  [
    'few timers',
    ['RequestQueue.scheduleCheckPendingRequests', 'RequestQueue.scheduleRequestTimeoutCheck'],
    setFewTimers,
  ],
  // One unknown, forbidden or leaderless topic fails the metadata of all, and is not named.
  ['metadata of each topic', ['metadataResponse', 'Broker.metadata'], readEachTopic],
  // One unknown or leaderless topic stops the admin client. It keeps leaders for five minutes, and knows no topic ids.
  // For each partition it looks through all. It does not say that an ACL forbids a group.
  ['clusters of admin clients', ['createAdmin'], administer],
];

/** What is at each place now. */
function contents(): ReadonlyMap<string, unknown> {
  const methods = CLASSES.flatMap((name) => {
    const own = Object.getOwnPropertyDescriptors(of(name));
    return Reflect.ownKeys(own).map((key) => {
      const { value, get }: PropertyDescriptor = Reflect.get(own, key);
      return [`${name}.${typeof key === 'symbol' ? key.description : key}`, value ?? get] as const;
    });
  });
  const functions = FUNCTIONS.map((name) => [name, internals[name]] as const);
  return new Map<string, unknown>([...methods, ...functions]);
}

/**
 * Makes the changes in their order.
 *
 * @throws Error when one does not replace what it names, or replaces what another one replaced before
 */
export function applyPatches(patches: readonly Patch[]): void {
  const replacedBy = new Map<string, string>();
  let before = contents();
  for (const [name, named, apply] of patches) {
    apply();
    const after = contents();
    const replaced = [...after.keys()].filter((place) => after.get(place) !== before.get(place));
    requireSame(name, named, replaced);
    for (const place of replaced) {
      const other = replacedBy.get(place);
      if (other !== undefined) {
        throw new Error(`the patches "${other}" and "${name}" both replace ${place} of kafkajs`);
      }
      replacedBy.set(place, name);
    }
    before = after;
  }
}

function requireSame(name: string, named: readonly PatchedPlace[], replaced: readonly string[]): void {
  const isOf = (place: string, pattern: string): boolean => pattern === place || pattern === `${place.split('.')[0]}.*`;
  const unnamed = replaced.find((place) => !named.some((pattern) => isOf(place, pattern)));
  if (unnamed !== undefined) {
    throw new Error(`the patch "${name}" replaces ${unnamed} of kafkajs, and does not name it`);
  }
  const unreplaced = named.find((pattern) => !replaced.some((place) => isOf(place, pattern)));
  if (unreplaced !== undefined) {
    throw new Error(`the patch "${name}" names ${unreplaced} of kafkajs, and does not replace it`);
  }
}

let loaded: typeof import('kafkajs') | undefined;

/**
 * Loads kafkajs with the patches applied.
 *
 * @throws Error when another version than 2.2.4 is installed, or one whose inside is another one
 */
export function loadKafkajs(): typeof import('kafkajs') {
  if (loaded === undefined) {
    requireVersion();
    measureMonotonically();
    requireKnown(internals);
    applyPatches(PATCHES);
    loaded = loadClient();
  }
  return loaded;
}

/**
 * Loads kafkajs as it was shipped but for its idle timers: for programs beside the consumer, whose records and
 * positions must not come from the code that is under test.
 */
export function loadQuietKafkajs(): typeof import('kafkajs') {
  stopIdleTimer(of('RequestQueue'));
  return loadClient();
}

/**
 * kafkajs's modules that measure durations by `Date.now()`, and use `Date` for nothing else. Each comes before those
 * that load it.
 */
export const MEASURING_MODULES = [
  'network/requestQueue/socketRequest.js',
  'network/requestQueue/index.js',
  'cluster/brokerPool.js',
] as const;

/** Milliseconds of a clock that never goes back, in the place of `Date`. */
const MONOTONIC_DATE = { now: (): number => Math.floor(performance.now()) };

/**
 * Lets kafkajs measure by a monotonic clock: when heartbeats are due, requests overdue, metadata stale, brokers to be
 * left alone. As shipped it asks for the time of day: a clock that is set back by an hour silences the heartbeats for
 * an hour, and one that is set forward ends all time-outs at once. Timestamps of records stay the time of day.
 */
function measureMonotonically(): void {
  for (const path of MEASURING_MODULES) {
    const file = fileOf(path);
    const run = compileFunction(
      readFileSync(file, 'utf8'),
      ['exports', 'require', 'module', '__filename', '__dirname', 'Date'],
      { filename: file },
    );
    const module = { exports: {} };
    run(module.exports, createRequire(file), module, file, dirname(file), MONOTONIC_DATE);
    replaceModule(path, module.exports);
  }
}

interface ProducedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

const NO_ATTRIBUTES = 0;

/** A record of record format v2, with its headers in the order in which they are given. */
export function encodeRecord({ offsetDelta, timestampDelta, key, value, headers }: ProducedRecord): Encoder {
  const body = new KafkajsEncoder()
    .writeInt8(NO_ATTRIBUTES)
    .writeVarLong(timestampDelta)
    .writeVarInt(offsetDelta)
    .writeVarIntBytes(key)
    .writeVarIntBytes(value)
    .writeVarInt(headers.length);
  for (const header of headers) {
    const key = typeof header.key === 'string' ? Buffer.from(header.key, 'utf8') : header.key;
    body.writeVarIntBytes(key).writeVarIntBytes(header.value);
  }
  return new KafkajsEncoder().writeVarInt(body.size()).writeEncoder(body);
}
