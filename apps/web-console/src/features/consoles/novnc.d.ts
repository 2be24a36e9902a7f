/** The part of noVNC that this console uses. Source: https://github.com/novnc/noVNC/blob/v1.7.0/docs/API.md */
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    clipViewport: boolean;
    background: string;
    focus(): void;
    disconnect(): void;
    sendCtrlAltDel(): void;
    toBlob(callback: (image: Blob | null) => void): void;
    sendKey(keysym: number, code: string | null, down?: boolean): void;
  }
}
