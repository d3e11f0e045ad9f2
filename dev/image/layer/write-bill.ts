/**
 * Writes the bill of materials into the image, in app/Dockerfile's build stage: `node dev/image/layer/write-bill.ts
 * FOLDER`, with the build's arguments in the environment. It is a step by itself: the layer before has no date.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleConsumer } from './bundle-consumer.ts';
import { SOFTWARE_BILL_FILE, softwareBill } from './software-bill.ts';

const created = process.env['CREATED'] ?? '';
const bill = softwareBill('.', { created, packages: await bundleConsumer(), type: 'application' });
writeFileSync(join(process.argv[2] ?? '', SOFTWARE_BILL_FILE), bill);
