/**
 * Writes commit, branch and time of the build for `/actuator/info`, in app/Dockerfile's build stage:
 * `node dev/image/layer/build-info.ts FOLDER`, with the build's arguments in the environment.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_INFO_FILE, buildInfoOf } from '../../../contract/build-info.ts';

const { REVISION = '', BRANCH, COMMIT_TIME, CREATED } = process.env;
const [commit, mark] = REVISION.split('-');
const info = buildInfoOf({
  time: CREATED,
  commit,
  commitTime: COMMIT_TIME,
  branch: BRANCH,
  ...(mark === 'dirty' && { dirty: true }),
});
writeFileSync(join(process.argv[2] ?? '', BUILD_INFO_FILE), `${JSON.stringify(info, null, 2)}\n`);
