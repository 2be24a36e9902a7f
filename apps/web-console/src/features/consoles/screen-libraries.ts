/** What draws consoles, as large as all the rest. Nothing of ours may be in it, or the two would share a third file. */
export { default as RFB } from '@novnc/novnc';
export { FitAddon } from '@xterm/addon-fit';
export { Terminal } from '@xterm/xterm';
