/** Writes the objects of each feature that can be switched on below a folder, for tools such as kube-score: `write-variants.ts FOLDER`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { renderedConsumer } from '../charts/rendered-consumer.ts';
import { SWITCHED_OFF, USER_FROM_CLUSTER, VARIANTS } from './variants.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  throw new Error('name a folder to write to');
}
const left = [SWITCHED_OFF, USER_FROM_CLUSTER];
for (const [name, changes] of Object.entries(VARIANTS).filter(([each]) => !left.includes(each))) {
  const variant = join(folder, name.replaceAll(/\W+/g, '-'));
  mkdirSync(variant, { recursive: true });
  const documents = renderedConsumer(changes).map((object) => stringify(object));
  writeFileSync(join(variant, 'consumer.k8s.yaml'), documents.join('---\n'));
}
