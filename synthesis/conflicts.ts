import { join } from 'node:path';
import type { CheckedConsumer } from '../deployment/check-consumer.ts';
import type { Problem } from '../settings/schema/problem.ts';
import { shownText } from '../settings/schema/shown-value.ts';
import { topicsOf } from '../settings/sections/tables.ts';
import { DIST_FOLDER } from './dist-folder.ts';
import { type Manifest, objectTitle, readManifests } from './manifest.ts';

const hasCommon = (one: readonly string[], other: readonly string[]): boolean =>
  one.some((each) => other.includes(each));

/** As far as a manifest shows: the same key of the same Secret gives the same database. */
const database = ({ file, settings }: CheckedConsumer): string =>
  [file.namespace.name, file.database.existingSecret, file.database.keys.url, settings.database.schema].join('/');

/** Two groups write the same records into one schema: the second group would be stopped at its first batch. */
function schemaConflict(one: CheckedConsumer, other: CheckedConsumer): Problem[] {
  const [mine, theirs] = [one.settings, other.settings];
  const isConflict =
    database(one) === database(other) &&
    mine.kafka.groupId !== theirs.kafka.groupId &&
    hasCommon(topicsOf(mine), topicsOf(theirs));
  return isConflict
    ? [
        {
          path: 'application.database.schema',
          message: `is also that of ${other.file.name}, which writes the same topic into it for another group: one of the two would be stopped`,
          given: mine.database.schema,
          allowed: "a schema of the consumer's own, or the group of the other",
        },
      ]
    : [];
}

/** One group with two subscriptions or two databases: Kafka assigns each partition to either consumer all the same. */
function groupConflict(one: CheckedConsumer, other: CheckedConsumer): Problem[] {
  const [mine, theirs] = [one.settings.kafka, other.settings.kafka];
  const topics = ({ settings }: CheckedConsumer): string => topicsOf(settings).toSorted().join();
  const isConflict =
    mine.groupId === theirs.groupId &&
    hasCommon(mine.brokers, theirs.brokers) &&
    (topics(one) !== topics(other) || database(one) !== database(other));
  return isConflict
    ? [
        {
          path: 'application.kafka.groupId',
          message: `is also that of ${other.file.name}, which reads other topics or writes elsewhere: the members of a group share its partitions`,
          given: shownText(mine.groupId),
          allowed: "a group of the consumer's own",
        },
      ]
    : [];
}

/**
 * What is wrong with a consumer beside others of its environment.
 *
 * @param before those above it in the list
 */
export function conflictProblems(consumer: CheckedConsumer, before: readonly CheckedConsumer[]): Problem[] {
  return before.flatMap((other) => [...schemaConflict(consumer, other), ...groupConflict(consumer, other)]);
}

/** Objects of one kind, namespace and name: in a cluster the second would overwrite the first. */
export function duplicateProblems(manifests: readonly Manifest[]): Problem[] {
  const titles = manifests.map(({ object }) => objectTitle(object));
  return manifests.flatMap(({ file, object }) => {
    const first = manifests[titles.indexOf(objectTitle(object))];
    return first === undefined || first.object === object
      ? []
      : [
          {
            path: objectTitle(object),
            message: `is in ${first.file} and in ${file}, and in a cluster the second would overwrite the first`,
            allowed: 'consumers whose names do not give two objects the same name',
          },
        ];
  });
}

const deploymentTitles = (folder: string): string[] =>
  readManifests(folder)
    .filter(({ object }) => object.kind === 'Deployment')
    .map(({ object }) => objectTitle(object));

interface Rendered {
  /** Folder of the environment below dist/. */
  readonly folder: string;
}

const inDist = ({ folder }: Rendered): string => join(DIST_FOLDER, folder);

/**
 * Environments that hold the same Deployments: right for two clusters, but in one cluster each would overwrite the
 * other.
 *
 * @param rendered folder that holds them
 * @returns one sentence for each pair of environments
 */
export function sharedObjects(rendered: string, environments: readonly Rendered[]): string[] {
  return environments.flatMap((environment, index) => {
    const own = deploymentTitles(join(rendered, environment.folder));
    return environments.slice(0, index).flatMap((other) => {
      const [shared] = deploymentTitles(join(rendered, other.folder)).filter((title) => own.includes(title));
      return shared === undefined
        ? []
        : [
            `${inDist(other)} and ${inDist(environment)} both hold ${shared}: apply them to two clusters, or give one of them another namespace.name`,
          ];
    });
  });
}

/**
 * Consumers with more Pods than partitions: right as a reserve, but no gain in speed.
 *
 * @returns one sentence for each; none where `partitions` is left out, or an autoscaler decides
 */
export function idlePods(
  environments: readonly (Rendered & { readonly consumers: readonly CheckedConsumer[] })[],
): string[] {
  return environments.flatMap(({ folder, consumers }) =>
    consumers.flatMap(({ file: { name, replicas, partitions = replicas, scaling } }) =>
      (scaling.keda ?? scaling.hpa) !== undefined || replicas <= partitions
        ? []
        : [
            `${inDist({ folder })}: ${name} has ${replicas} replicas for ${partitions} partitions: ${replicas - partitions} will wait idle`,
          ],
    ),
  );
}
