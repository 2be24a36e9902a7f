import { expectOwnSession, type Users } from './foreign-session.js';

const SESSION = 'qemu+unix:///session?socket=/run/user/1000/libvirt/libvirt-sock';
const users = (own: number, owner?: number): Users => ({ own: () => own, ownerOf: async () => owner });

describe('expectOwnSession', () => {
  test('refuses root the files of the session daemon of another user', async () => {
    await expect(expectOwnSession(SESSION, users(0, 1000))).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('the user 1000'),
    });
    await expect(expectOwnSession('qemu:///session', users(0, 1000))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test.each([
    ['a service of that user', SESSION, users(1000, 1000)],
    ["root's own session", SESSION, users(0, 0)],
    ['a daemon that is not running', SESSION, users(0)],
    ['the daemon of the system', 'qemu:///system', users(0, 1000)],
    ['another machine', 'qemu+ssh://host.example/session', users(0, 1000)],
  ])('allows %s', async (_who, uri, who) => expect(await expectOwnSession(uri, who)).toBeUndefined());
});
