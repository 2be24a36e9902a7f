/**
 * The libraries that draw consoles. This chunk contains no code of ours, because shared code would need a third file.
 */
export { default as RFB } from '@novnc/novnc';
export { FitAddon } from '@xterm/addon-fit';
export { Terminal } from '@xterm/xterm';
