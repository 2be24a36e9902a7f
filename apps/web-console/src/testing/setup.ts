import { configure } from '@testing-library/react';
import { TextDecoder, TextEncoder } from 'node:util';

configure({ asyncUtilTimeout: 20_000 });

/** What a browser has and jsdom has not. */
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

// Nothing is laid out here, but a table that draws what is in sight needs a sight. (A spec about the build has no page.)
if ('Element' in globalThis) {
  Object.defineProperty(Element.prototype, 'clientHeight', { configurable: true, value: 400 });
  Object.defineProperty(Element.prototype, 'clientWidth', { configurable: true, value: 1200 });
}
