import { readdirSync } from 'node:fs';

const SOURCE = 'apps/web-console/src';

/** Any way up and then into one of the folders: `../../fleet/x.js`, `../../../features/fleet/x.js`. */
const into = (folders) => `^(?:\\.{1,2}/)+(?:features/)?(?:${folders.join('|')})/`;

const zone = (files, folders, message) => ({
  files: [`${SOURCE}/${files}/**/*.{ts,tsx}`],
  rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: into(folders), message }] }] },
});

const features = readdirSync(new URL(`../../${SOURCE}/features/`, import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/**
 * Features of the console never import each other: they meet in `routes`, or share through `shared`. A zone per folder,
 * so a new feature is inside the rule from its first file.
 */
export const consoleZones = [
  ...features.map((feature) =>
    zone(
      `features/${feature}`,
      [...features.filter((other) => other !== feature), 'routes', 'app'],
      'A feature imports shared and api-contracts only. Features meet in routes.',
    ),
  ),
  zone('shared', ['features/[^/]+', 'routes', 'app'], 'shared knows no feature.'),
];
