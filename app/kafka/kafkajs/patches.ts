/**
 * All changes to kafkajs 2.2.4. They are made in memory, before kafkajs is loaded, so they are there after any kind of
 * installation and in the image; nothing on disk is touched. kafkajs has had no release since February 2023: the exact
 * version is pinned in package.json, and another one is refused here rather than half patched.
 *
 * Record format (kafkajs-record-patches.ts, record-batch.ts):
 *
 * 1. The record decoder folds headers into an object: the order of integer-like keys and of repeated keys is lost, and
 *    each header copies all before it. Patched: `headers` is the array of `{ key, value }` as it was sent. Offset and
 *    timestamp are bigints, which kafkajs's own arithmetic takes as well as the strings it would make.
 * 2. The record encoder takes headers as an object as well, and fails on a header without a value. Patched: headers are
 *    an array there, too, so a record can be produced again with the headers it came with.
 * 3. A batch whose last records, or all of them, were compacted away is taken to end at the last one left: the fetch
 *    steps forward offset by offset, or never. Patched: such a batch ends with a control record at its real last
 *    offset.
 * 4. A fetch is decoded in one go, however many partitions it has. Patched: other work has its turn in between.
 * 5. A batch of more than some 125,000 records overflows the stack. Patched: there is no such limit.
 * 6. Checksums are read and not compared: a flipped bit becomes a record. And content that cannot be decoded fails the
 *    fetch of all partitions, over and over. Patched: such a batch is reported, and holds up its own partition.
 * 7. Messages of the formats before 0.11 are handed over without their context and with other types, and those behind a
 *    batch of record format v2 are taken for one. Patched: they are records like others.
 * 8. A header's key that is not UTF-8 is changed into one that is. Patched: it stays bytes.
 * 32. Counts and lengths in a batch are believed, and objects are made without a bound. Patched: both are compared with
 *     the bytes that are left, and a batch whose records take more memory than the process has is reported.
 * 34. Records of aborted transactions come through where transactions overlap, or a key has the bytes of an abort marker
 *     (aborted-records.ts). Patched: a transaction begins at its first offset and ends at its producer's marker.
 *
 * Consumer group (kafkajs-consumer-patches.ts):
 *
 * 9. An offset that the broker does not hold makes the consumer jump to the log's start or end and commit that, even
 *    with autoCommit off (https://github.com/tulios/kafkajs/issues/1119). Patched: it is only reported.
 * 10. A fetch whose records are all control records, aborted or compacted is skipped without a word. Patched: the
 *    skipped range is reported, since the stored offset has to move over it.
 * 11. A consumer that starts again after an outage joins as a new member, and the group waits until the session of the
 *    old member times out. Patched: it joins as the member it was.
 * 12. A consumer whose partitions are all paused sleeps for the whole of maxWaitTimeInMs before it looks again. Patched:
 *    it fetches as soon as one is resumed.
 * 13. Offsets that could not be committed are committed again under the generation of the next rebalance, and while the
 *    consumer stops none are committed, without a word. Patched: one attempt, and its failure rejects.
 * 14. Of the two ends of a log that a fetch's answer tells, the last stable offset is dropped. Patched: both are
 *    reported.
 *
 * Topics (topic-patches.ts):
 *
 * 15. The metadata of all topics are asked for at once, and one that is unknown fails them: one deleted topic stops the
 *    consumer and the admin client for all. Patched: both go on with the topics that are there, those that are not are
 *    reported, and their partitions are assigned no longer. One that an ACL forbids is named.
 *    And one partition without a leader fails them all. Patched: it waits for one, alone, and the admin client looks for
 *    new leaders where one is missing or fails, not every five minutes.
 *
 * Fetches by topic id (kafkajs-topic-id-patches.ts):
 *
 * 16. Topics are fetched by their names, so one that was deleted and created again is read on as if it were the old one,
 *    and a log that was truncated is read on behind its new records. Patched: Fetch 13, by id and last leader epoch,
 *    where the broker offers it; the admin client tells the ids. And a topic that an ACL forbids to be
 *    read fails the fetch of all. Patched: it is reported, and holds up its own partitions.
 *
 * Connections (connection-patches.ts, and 19 in this file):
 *
 * 17. Each connection re-arms a timer of negative duration for ever, 900 wake-ups a second and a TimeoutNegativeWarning
 *    since Node 24 (https://github.com/tulios/kafkajs/issues/1751). Patched: no timer while nothing is pending.
 * 18. Each connection looks for overdue requests ten times a second. Patched: once.
 * 19. Heartbeats and time-outs go by the time of day. Patched: by a monotonic clock.
 *
 * Answers (answer-patches.ts, decoder-patches.ts):
 *
 * 33. The size of an answer is believed, and so are counts and lengths in it: what is no answer of a broker ends the process
 *     or is waited for until the memory ends. Patched: it closes the connection, or fails the request, with what came.
 * 34. A login by SCRAM makes as many iterations as the broker asks for. Patched: a million at most.
 *
 * Logins (connection-patches.ts):
 *
 * 27. A broker that refuses a login or a certificate is asked again several times a second for ever, and after a refused
 *     login no other one is. Patched: attempts are further apart, all bootstrap brokers are asked, and how each took it
 *     is told.
 * 30. One broker that cannot be connected to fails, by chance, what any of them could answer. Patched: the next is asked.
 *
 * Membership (coordinator-patches.ts):
 *
 * 20. Heartbeats are sent between fetches, and a fetch that a broker holds back over a quota costs the membership.
 *     Patched: they go on while a fetch is under way.
 * 21. The requests of the group wait for those for metadata and log ends, which go over the same connection. Patched: the
 *     coordinator has a connection of its own.
 * 22. A group coordinator that no broker knows counts as an error that never passes, and the consumer stops for good in
 *     a restart of Kafka; so does one of a group that an ACL forbids. Patched: the lookup is retried, and that is told.
 * 31. A consumer that stops while it joins its group goes without leaving it, and is waited for until its session is over.
 *     Patched: it leaves at once.
 *
 * Memory (fetch-size.ts, kafkajs-record-patches.ts, kafkajs-consumer-patches.ts):
 *
 * 23. A fetch asks for as many bytes however many are in memory already, and whatever they unpack to. Patched: its size
 *     follows the memory budget, none is sent while there is no room, and what unpacks to more is left for the next one.
 * 24. Records keep the whole answer in memory that they came in. Patched: their batch is copied.
 * 25. The partitions of a request are always in the same order, and brokers fill an answer from its front. Patched: each
 *     of them is the first in its turn.
 *
 * Codecs (codecs.ts):
 *
 * 26. The only codec is gzip, and what it unpacks to is not bounded. Patched: gzip, snappy, lz4 and zstd, up to a bound.
 *
 * Logins by token (login-patches.ts):
 *
 * 28. A session of less than 10 s is renewed before each request. Patched: in its last fifth.
 * 29. A connection whose login failed half-way stays open, and can never log in again. Patched: it is closed.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import { processMemory } from '../../stream/memory-budget.ts';
import { withoutAborted } from '../aborted-records.ts';
import { registerCodecs } from '../codecs/codecs.ts';
import { sizeFetches } from '../fetch-size.ts';
import {
  commitOnce,
  fetchWhenResumed,
  rejoinAsSameMember,
  reportLogEnds,
  reportOutOfRange,
  reportSkippedRanges,
  reportUnreadableBatches,
} from '../kafkajs-consumer-patches.ts';
import { encodeRecord, recordSetDecoder, recordSetReader } from '../kafkajs-record-patches.ts';
import { administerTopicIds, consumeByOrigins, fetchByTopicId, fetchProtocol } from '../kafkajs-topic-id-patches.ts';
import { boundAnswers, boundIterations } from './answer-patches.ts';
import {
  askAnyBroker,
  checkTimeoutsRarely,
  stopIdleTimer,
  watchAuthentication,
  watchConnections,
} from './connection-patches.ts';
import {
  beatWhileFetching,
  connectCoordinatorApart,
  leaveWhileJoining,
  retryCoordinatorLookup,
} from './coordinator-patches.ts';
import { boundDecoder } from './decoder-patches.ts';
import { closeFailedLogins, logInLate } from './login-patches.ts';
import {
  administerKnownTopics,
  consumeKnownTopics,
  failOverUnknownTopics,
  metadataResponse,
  rejoinWithoutGoneTopics,
} from './topic-patches.ts';

const require = createRequire(import.meta.url);

/** The version of kafkajs that the patches are made for, and the only one that is loaded. */
export const KAFKAJS_VERSION = '2.2.4';

/** Every later version of the response takes its `parse` from here. */
const METADATA_RESPONSE = 'kafkajs/src/protocol/requests/metadata/v0/response.js';
/** That of every version from 1 on, of which kafkajs's last one is 11. */
const FETCH_RESPONSE = 'kafkajs/src/protocol/requests/fetch/v11/response.js';
const FETCH = 'kafkajs/src/protocol/requests/fetch/index.js';
const RECORD_SET_DECODER = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';
const RECORD_ENCODER = 'kafkajs/src/protocol/recordBatch/record/v0/index.js';

/**
 * Loads kafkajs with the patches applied.
 *
 * @throws Error when another version than 2.2.4 is installed
 */
export function loadKafkajs(): typeof import('kafkajs') {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== KAFKAJS_VERSION) {
    throw new Error(`kafkajs ${version} is installed, but the patches are made for ${KAFKAJS_VERSION}: run npm ci`);
  }
  // Before the consumer's batches, which take it when they are loaded.
  replaceModule('kafkajs/src/consumer/filterAbortedMessages.js', withoutAborted);
  measureMonotonically();
  boundDecoder(require('kafkajs/src/protocol/decoder').prototype);
  boundAnswers(require('kafkajs/src/network/connection').prototype);
  boundIterations(require('kafkajs/src/broker/saslAuthenticator/scram').SCRAM.prototype);
  registerCodecs(require('kafkajs/src/protocol/message/compression').Codecs);
  replaceModule(METADATA_RESPONSE, metadataResponse(require(METADATA_RESPONSE)));
  replaceModule(RECORD_ENCODER, encodeRecord);
  replaceModule(RECORD_SET_DECODER, recordSetDecoder(processMemory));
  logInLate(require('kafkajs/src/network/connection').prototype);
  closeFailedLogins(require('kafkajs/src/broker/saslAuthenticator').prototype);
  watchConnections(require('kafkajs/src/network/connection').prototype);
  watchAuthentication(require('kafkajs/src/broker/saslAuthenticator').prototype);
  askAnyBroker(require('kafkajs/src/cluster/brokerPool').prototype, require('kafkajs/src/cluster').prototype);
  stopIdleTimer(require('kafkajs/src/network/requestQueue').prototype);
  checkTimeoutsRarely(require('kafkajs/src/network/requestQueue').prototype);
  reportOutOfRange(require('kafkajs/src/consumer/consumerGroup').prototype);
  reportSkippedRanges(require('kafkajs/src/consumer/runner').prototype);
  reportUnreadableBatches(require('kafkajs/src/consumer/runner').prototype);
  // Its importers have it already, so it is changed in place.
  Object.assign(require(FETCH), fetchProtocol({ ...require(FETCH) }, recordSetReader(processMemory)));
  fetchByTopicId(require('kafkajs/src/broker').prototype, require(FETCH_RESPONSE));
  reportLogEnds(require('kafkajs/src/broker').prototype, require('kafkajs/src/consumer/runner').prototype);
  rejoinAsSameMember(require('kafkajs/src/consumer/consumerGroup').prototype);
  sizeFetches(require('kafkajs/src/consumer/consumerGroup').prototype, processMemory);
  fetchWhenResumed(require('kafkajs/src/consumer/consumerGroup').prototype, processMemory);
  retryCoordinatorLookup(require('kafkajs/src/cluster').prototype);
  commitOnce(require('kafkajs/src/consumer/runner').prototype);
  beatWhileFetching(require('kafkajs/src/consumer/runner').prototype);
  leaveWhileJoining(
    require('kafkajs/src/consumer/consumerGroup').prototype,
    require('kafkajs/src/consumer/runner').prototype,
    require('kafkajs/src/cluster').prototype,
  );
  failOverUnknownTopics(require('kafkajs/src/broker').prototype);
  rejoinWithoutGoneTopics(require('kafkajs/src/consumer/consumerGroup').prototype);
  replaceModule('kafkajs/src/consumer', consumeByOrigins(consumeKnownTopics(require('kafkajs/src/consumer'))));
  replaceModule('kafkajs/src/consumer', connectCoordinatorApart(require('kafkajs/src/consumer')));
  replaceModule('kafkajs/src/admin', administerTopicIds(administerKnownTopics(require('kafkajs/src/admin'))));
  return require('kafkajs') as typeof import('kafkajs');
}

/**
 * Loads kafkajs as it was shipped but for patch 17: for programs beside the consumer, whose records and positions must
 * not come from the code that is under test.
 */
export function loadQuietKafkajs(): typeof import('kafkajs') {
  stopIdleTimer(require('kafkajs/src/network/requestQueue').prototype);
  return require('kafkajs') as typeof import('kafkajs');
}

function replaceModule(path: string, replacement: unknown): void {
  const file = require.resolve(path);
  require(file);
  const loaded = require.cache[file];
  if (!loaded) {
    throw new Error(`${path} of kafkajs could not be replaced: it is not in the module cache`);
  }
  loaded.exports = replacement;
}

/**
 * kafkajs's modules that measure durations by `Date.now()`, and use `Date` for nothing else. Each comes before those
 * that load it.
 */
export const MEASURING_MODULES = [
  'kafkajs/src/network/requestQueue/socketRequest.js',
  'kafkajs/src/network/requestQueue/index.js',
  'kafkajs/src/cluster/brokerPool.js',
  'kafkajs/src/consumer/offsetManager/index.js',
  'kafkajs/src/consumer/consumerGroup.js',
  'kafkajs/src/consumer/runner.js',
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
    const file = require.resolve(path);
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
