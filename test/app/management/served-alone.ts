/**
 * Serves the operational interface in a process of its own, with TLS when a folder with a certificate is given; answers
 * each message with the size of the heap after a garbage collection.
 */
import { managementOptions, startManagement } from './running-management.ts';
import { sslIn } from './test-certificate.ts';

const [, , folder] = process.argv;
const { settings } = managementOptions();
const server = folder === undefined ? settings.server : { ...settings.server, ssl: sslIn(folder) };
const { address } = await startManagement({ settings: { ...settings, server } });

process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heapUsed: process.memoryUsage().heapUsed });
});
process.send?.({ port: address.port });
