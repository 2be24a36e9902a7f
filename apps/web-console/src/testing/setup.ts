import { i18n } from '@lingui/core';
import { QueryClient } from '@tanstack/react-query';
import { configure } from '@testing-library/react';
import { TextDecoder, TextEncoder } from 'node:util';

// The texts are in the code. Specs of other languages activate theirs.
i18n.load('en', {});
i18n.activate('en');

configure({ asyncUtilTimeout: 50_000 });

// Every query and mutation is kept for minutes after its page is gone, with a timer.
const clients = new Set<QueryClient>();
const { prototype } = QueryClient;
const mount = prototype.mount;
prototype.mount = function (this: QueryClient): void {
  clients.add(this);
  mount.call(this);
};
afterEach(() => {
  for (const client of clients) {
    for (const mutation of client.getMutationCache().getAll()) mutation.destroy();
    client.clear();
  }
  clients.clear();
});

/** Browser features that jsdom lacks. */
Object.defineProperty(globalThis, 'matchMedia', {
  configurable: true,
  value: (media: string) => ({
    media,
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }),
});

class NoResizeObserver {
  observe = (): void => undefined;
  unobserve = (): void => undefined;
  disconnect = (): void => undefined;
}
Object.defineProperty(globalThis, 'ResizeObserver', { configurable: true, value: NoResizeObserver });

Object.assign(globalThis, { TextEncoder, TextDecoder });

// jsdom has no layout, but the table renders only rows that fit. (Specs of the build have no document.)
if ('Element' in globalThis) {
  Object.defineProperty(Element.prototype, 'clientHeight', { configurable: true, value: 400 });
  Object.defineProperty(Element.prototype, 'clientWidth', { configurable: true, value: 1200 });

  Object.assign(Element.prototype, { scrollIntoView: () => undefined });

  // The parts of dialogs and popovers that the console depends on: open, Escape, and the focus.
  const openers = new WeakMap<HTMLDialogElement, Element | null>();
  const onEscape = ({ key, target }: KeyboardEvent): void => {
    if (key === 'Escape')
      (target as Element).closest('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true }));
  };
  Object.assign(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement): void {
      openers.set(this, document.activeElement);
      this.open = true;
      this.addEventListener('keydown', onEscape);
    },
    close(this: HTMLDialogElement): void {
      this.open = false;
      const opener = openers.get(this);
      if (opener instanceof HTMLElement) opener.focus();
    },
  });
  Object.assign(HTMLElement.prototype, { showPopover: () => undefined, hidePopover: () => undefined });
}
