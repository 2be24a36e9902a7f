import { describePusher } from './pusher-shape.js';

const data = { url: 'https://push.example/_matrix/push/v1/notify', format: 'event_id_only' };
const names = { app_display_name: 'A', device_display_name: 'D', lang: 'en' };
const pusher = { pushkey: 'k', app_id: 'app', kind: 'http', ...names, data };

describe('describePusher', () => {
  test('drops the members of the request alone, and keeps the rest', () => {
    expect(describePusher({ ...pusher, append: true, 'x.enabled': true })).toEqual({ ...pusher, 'x.enabled': true });
    const mail = { ...pusher, kind: 'email', app_id: 'm.email', pushkey: 'a@b.example', data: {} };
    expect(describePusher(mail)).toEqual(mail);
  });

  test.each(['pushkey', 'app_id', 'app_display_name', 'device_display_name', 'lang', 'data'])('requires %s', (name) => {
    expect(() => describePusher({ ...pusher, [name]: undefined })).toThrow(
      expect.objectContaining({ errcode: 'M_MISSING_PARAM' }),
    );
    expect(() => describePusher({ ...pusher, [name]: 5 })).toThrow(
      expect.objectContaining({ errcode: 'M_INVALID_PARAM' }),
    );
  });

  test.each([
    [{ kind: 'carrier pigeon' }],
    [{ kind: 'email' }],
    [{ pushkey: '' }],
    [{ append: 'yes' }],
    [{ profile_tag: 5 }],
    [{ data: [] }],
    [{ data: null }],
    [{ data: { ...data, format: 5 } }],
    [{ data: { url: 'http://push.example/_matrix/push/v1/notify' } }],
    [{ data: { url: 'https://push.example/elsewhere' } }],
    [{ data: { url: 5 } }],
  ])('refuses %j', (change) => {
    expect(() => describePusher({ ...pusher, ...change })).toThrow(
      expect.objectContaining({ status: 400, errcode: 'M_INVALID_PARAM' }),
    );
  });
});
