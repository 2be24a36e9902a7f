import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { Fragment, useSyncExternalStore, type ReactNode } from 'react';

const subscribe = (listener: () => void): (() => void) => i18n.on('change', listener);

/** Shows everything again in another language when it changes. */
export function TextsProvider({ children }: { children: ReactNode }) {
  const locale = useSyncExternalStore(subscribe, () => i18n.locale);
  return (
    <I18nProvider i18n={i18n}>
      <Fragment key={locale}>{children}</Fragment>
    </I18nProvider>
  );
}
