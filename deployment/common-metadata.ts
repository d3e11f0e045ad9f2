import { valueAt } from '../settings/schema/document.ts';
import { annotationMap, labelMap } from './sections/object-names.ts';

// This room has no cdk8s: its objects come in from the rooms that render.

/** Labels of each object, as an owner or a cost centre that a whole organization wants. */
export const labels = labelMap({
  default: {},
  description:
    'Labels of each object, the monitoring too; never of selectors and Pods, which pods.labels is for. Those of a section and ours win.',
});

/** Annotations of each object. */
export const annotations = annotationMap({
  default: {},
  description:
    'Annotations of each object, the monitoring too; never of Pods, which pods.annotations is for. Those of a section and ours win.',
});

/** What each object of a consumer has in common. */
export interface CommonMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A finished object of cdk8s. */
interface LabelledObject {
  readonly metadata: {
    getLabel(key: string): string | undefined;
    addLabel(key: string, value: string): void;
    addAnnotation(key: string, value: string): void;
    toJson(): unknown;
  };
}

/** Adds what all objects have in common to the metadata of finished ones; what is there already stays. */
export function addCommonMetadata({ labels, annotations }: CommonMetadata, objects: readonly LabelledObject[]): void {
  for (const { metadata } of objects) {
    for (const [key, value] of Object.entries(labels)) {
      metadata.addLabel(key, metadata.getLabel(key) ?? value);
    }
    for (const [key, value] of Object.entries(annotations)) {
      const given = valueAt(metadata.toJson(), ['annotations', key]);
      metadata.addAnnotation(key, typeof given === 'string' ? given : value);
    }
  }
}

const inAll = (maps: readonly Readonly<Record<string, string>>[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(maps[0] ?? {}).filter(([key, value]) => maps.every((map) => valueAt(map, [key]) === value)),
  );

/** What an object has that several consumers share: what they agree on. */
export const agreedMetadata = (all: readonly CommonMetadata[]): CommonMetadata => ({
  labels: inAll(all.map((each) => each.labels)),
  annotations: inAll(all.map((each) => each.annotations)),
});
