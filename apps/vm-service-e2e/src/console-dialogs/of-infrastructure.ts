import { LONG_NAME, type DialogData } from './data.js';
import {
  choose,
  control,
  DIALOG,
  MENU,
  PANEL,
  PLANNED,
  press,
  pressIt,
  type ConsoleDialog,
  type Stage,
} from './stage.js';

/** The dialogs of folders, nodes, storage, networks, images and checks. */
export function infrastructureDialogs({ node, folder, plugin }: DialogData): readonly ConsoleDialog[] {
  const peek = `/folders?peek=${encodeURIComponent(folder)}`;
  const ofFolder = (text: string): ConsoleDialog => ({
    name: `${text} of a folder`,
    path: peek,
    layer: DIALOG,
    steps: [press('More'), choose(text)],
  });
  const nodePeek = `/nodes?peek=${node.context}/${node.name}`;
  return [
    { name: 'a new folder', path: '/folders', layer: DIALOG, steps: [press('New folder')] },
    { name: 'the peek of a folder', path: peek, layer: PANEL, steps: [] },
    ofFolder('New folder inside…'),
    ofFolder('Move to…'),
    { ...ofFolder('Delete…'), layer: PANEL, ready: PLANNED },
    { name: 'another name of a folder', path: peek, layer: DIALOG, steps: [press('Rename…')] },
    {
      name: 'the actions on the members of a folder',
      path: peek,
      layer: MENU,
      steps: [press('Act on {0}', { 0: '1' })],
    },
    {
      name: 'the plan for the members of a folder',
      path: peek,
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Act on {0}', { 0: '1' }), choose('Restart')],
    },
    {
      name: 'another folder of a member',
      path: peek,
      layer: DIALOG,
      steps: [pressIt(`${PANEL} .hg-node-guests li button`)],
    },
    { name: 'the peek of a node', path: nodePeek, layer: PANEL, steps: [] },
    {
      name: 'the cordon of a node',
      path: nodePeek,
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Cordon {name}', { name: node.name })],
    },
    {
      name: 'the drain of a node',
      path: nodePeek,
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Drain {name}', { name: node.name })],
    },
    {
      name: 'the failure of a node',
      path: nodePeek,
      layer: PANEL,
      ready: '.hg-failure [role="status"]',
      steps: [press('Show what would happen')],
    },
    { name: 'the peek of a storage', path: '/storage', layer: PANEL, steps: [pressIt('.hg-resource-name')] },
    { name: 'the import of an image', path: '/images', layer: DIALOG, steps: [press('Import image…')] },
    { name: 'the upload of an image', path: '/images', layer: DIALOG, steps: [press('Upload image…')] },
    {
      name: 'the removal of a source',
      path: '/images',
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Remove {name}', { name: LONG_NAME })],
    },
    {
      name: 'the passed checks',
      path: '/doctor',
      layer: '.hg-disclosure > div',
      steps: [pressIt('.hg-health > .hg-disclosure > button')],
    },
    ...(plugin === undefined
      ? []
      : [
          {
            name: 'the installation of a plugin',
            path: '/plugins',
            layer: PANEL,
            ready: PLANNED,
            steps: [
              (stage: Stage) =>
                control(stage, 'button', '{label} {name}', { label: stage.say('Install'), name: plugin }).click(),
            ],
          },
        ]),
  ];
}
