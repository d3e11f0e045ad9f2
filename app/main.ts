#!/usr/bin/env node
import { EXIT_CODE } from '../contract/exit-code.ts';
import type { Settings } from '../contract/settings.ts';
import { Application } from './application.ts';
import { configure } from './configuration/configure.ts';
import { productVersion } from './configuration/product-version.ts';

async function run(settings: Settings): Promise<number> {
  const application = new Application(settings, productVersion());
  let isSecond = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isSecond) {
        process.exit(EXIT_CODE.failed);
      }
      isSecond = true;
      void application.stop(signal);
    });
  }
  await application.start();
  return application.ended;
}

const decision = configure(process.argv.slice(2), process.env, process.cwd());
if (decision.kind === 'exit') {
  process.stdout.write(decision.stdout ?? '');
  process.stderr.write(decision.stderr ?? '');
  process.exitCode = decision.code;
} else {
  process.exit(await run(decision.settings));
}
