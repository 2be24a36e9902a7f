import { i18n } from '@lingui/core';

/** All modules of the console are loaded before its language is known. */
test('no module has a text before the language is activated', async () => {
  i18n.load('', {});
  i18n.activate('');
  expect(() => i18n.t('any')).toThrow('without setting a locale');
  await import('./app/app.js');
});
