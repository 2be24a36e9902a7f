import { GIVEN_NAME, LONG_NAME, type DialogData } from './data.js';
import { DIALOG, fill, PANEL, PLANNED, press, type ConsoleDialog } from './stage.js';

const it = { name: LONG_NAME };
const given = { name: GIVEN_NAME };

/** The dialogs of the pages with settings. */
export function administrationDialogs({ backupFolder }: DialogData): readonly ConsoleDialog[] {
  const plan = (path: string, text: string, values: Readonly<Record<string, string>> = it): ConsoleDialog => ({
    name: `${text} on ${path}`,
    path,
    layer: PANEL,
    ready: PLANNED,
    steps: [press(text, values)],
  });
  return [
    plan('/schedules', 'Run now: {name}', given),
    plan('/schedules', 'Delete {name}', given),
    { name: 'the form of a schedule', path: '/schedules', layer: 'form.hg-form', steps: [press('Edit {name}', given)] },
    plan('/integrations', 'Rotate {0}', { 0: LONG_NAME }),
    plan('/integrations', 'Stop {0}', { 0: LONG_NAME }),
    plan('/integrations', 'Revoke {0}', { 0: LONG_NAME }),
    plan('/integrations', 'Delete {0}', { 0: LONG_NAME }),
    plan('/integrations', 'Rotate the secret of {0}', { 0: LONG_NAME }),
    {
      name: 'the scope of a webhook',
      path: '/integrations',
      layer: `form[aria-label*="${LONG_NAME}"]`,
      steps: [press('Change the scope of {0}', { 0: LONG_NAME })],
    },
    {
      name: 'the test of a webhook',
      path: '/integrations',
      layer: '.hg-section > .hg-alert',
      steps: [press('Test {0}', { 0: LONG_NAME })],
    },
    { name: 'the login of a device', path: '/device', layer: 'main', steps: [] },
    {
      name: 'the leash of an agent',
      path: '/integrations',
      layer: 'form',
      steps: [press('For an agent, which changes only what it has rehearsed', undefined, 'checkbox')],
    },
    {
      name: 'a new role',
      path: '/access',
      layer: PANEL,
      ready: PLANNED,
      steps: [fill('#role-subject', LONG_NAME), press('Show the plan')],
    },
    { name: 'the form of a channel', path: '/messages', layer: 'form.hg-form', steps: [press('Edit {name}', given)] },
    plan('/messages', 'Delete {name}', given),
    {
      name: 'the plan of a channel',
      path: '/messages',
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Edit {name}', given), fill('#channel-name', `${GIVEN_NAME.slice(1)}x`), press('Show the plan')],
    },
    { name: 'a backup', path: '/backups', layer: DIALOG, steps: [press('Back up now…')] },
    plan('/backups', 'Check {name}'),
    plan('/backups', 'Clean up {name}'),
    plan('/backups', 'Remove {name}'),
    {
      name: 'a new backup target',
      path: '/backups',
      layer: PANEL,
      ready: PLANNED,
      steps: [
        fill('#target-name', LONG_NAME.slice(1)),
        fill('#target-path', `${backupFolder}/${LONG_NAME.slice(1)}`),
        fill('#target-password', 'correct horse battery'),
        fill('#target-repeated', 'correct horse battery'),
        press('Add target…'),
      ],
    },
  ];
}
