import { menuActions } from '../../../shared/actions/menu-items.js';
import { buildVm } from '../../../testing/build-vm.js';
import { parseCommand } from './parse-command.js';

const parse = (text: string) => parseCommand(text, menuActions(buildVm()));

describe('parseCommand', () => {
  test.each([
    ['restart web-01', ['restart'], 'web-01', true],
    ['  Restart   web-01 ', ['restart'], 'web-01', true],
    ['sto web', ['stop', 'force-stop'], 'web', false],
    ['shut down web', ['stop'], 'web', true],
    ['shut web', ['stop'], 'web', false],
    ['force stop My  VM', ['force-stop'], 'My  VM', true],
    ['force-stop web', ['force-stop'], 'web', true],
    ['unpause web', ['unpause'], 'web', true],
    ['re', ['restart', 'unpause'], '', false],
    ['delete', ['delete'], '', true],
  ])('reads "%s"', (text, ids, name, isComplete) => expect(parse(text)).toEqual({ ids, name, isComplete }));

  test.each(['web-01 restart', 'r web', 'restarts web', '', 'status:running'])('finds no verb in "%s"', (text) =>
    expect(parse(text)).toBeUndefined(),
  );
});
