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
