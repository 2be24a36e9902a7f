/**
 * The console's icons: strokes on a grid of 24 by 24, or filled shapes where `solid` is true. Only data: this module
 * becomes icons.js.
 */
export const ICONS = {
  play: { path: 'M7 4.5v15l12-7.5z', solid: true },
  pause: { path: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z', solid: true },
  power: { path: 'M12 3v9M6.5 7a8 8 0 1 0 11 0', solid: false },
  plug: { path: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4', solid: false },
  restart: { path: 'M20 12a8 8 0 1 1-2.5-5.8M20 3v5h-5', solid: false },
  migrate: { path: 'M3 8h15M14 4l4 4-4 4M21 16H6M10 12l-4 4 4 4', solid: false },
  check: { path: 'M4.5 12.5l5 5 10-11', solid: false },
  cross: { path: 'M6 6l12 12M18 6L6 18', solid: false },
  alert: { path: 'M12 3.5L22 20.5H2zM12 10v5M12 17.6v.4', solid: false },
  error: { path: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5v5.5M12 16v.4', solid: false },
  unknown: {
    path: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.5v.3',
    solid: false,
  },
  off: { path: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z', solid: false },
  hourglass: { path: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2', solid: false },
  minus: { path: 'M5 12h14', solid: false },
  popout: { path: 'M14 4h6v6M20 4l-9 9M18 13v7H4V6h7', solid: false },
  camera: { path: 'M4 7h4l1.5-2h5L16 7h4v12H4zM12 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z', solid: false },
  plus: { path: 'M12 5v14M5 12h14', solid: false },
  trash: { path: 'M4 6.5h16M9 6.5V4h6v2.5M6 6.5l1 14h10l1-14M10 10.5v6M14 10.5v6', solid: false },
  copy: { path: 'M9 9h11v11H9zM5 15H4V4h11v1', solid: false },
  paste: { path: 'M8 5H5v15h14V5h-3M8 3.5h8v3.5H8zM8.5 12h7M8.5 15.5h5', solid: false },
  keyboard: { path: 'M3 6.5h18v11H3zM7 14h10M6.5 10h.1M10 10h.1M13.7 10h.1M17.3 10h.1', solid: false },
  expand: { path: 'M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5', solid: false },
  fit: { path: 'M4 5h16v14H4zM8 12h8M8 12l2-2M8 12l2 2M16 12l-2-2M16 12l-2 2', solid: false },
  screen: { path: 'M3 5h18v11H3zM12 16v4M8 20h8', solid: false },
  terminal: { path: 'M3 4.5h18v15H3zM7 9l3 3-3 3M12.5 15H17', solid: false },
  machine: { path: 'M4 4h16v7H4zM4 13h16v7H4zM7.5 7.5h.1M7.5 16.5h.1M11 7.5h6M11 16.5h6', solid: false },
  container: { path: 'M12 3l8.5 4.5v9L12 21l-8.5-4.5v-9zM3.5 7.5L12 12l8.5-4.5M12 12v9', solid: false },
  image: {
    path: 'M12 3c4.4 0 8 1.1 8 2.5S16.4 8 12 8 4 6.9 4 5.5 7.6 3 12 3zM4 5.5v13C4 19.9 7.6 21 12 21s8-1.1 8-2.5v-13M4 12c0 1.4 3.6 2.5 8 2.5s8-1.1 8-2.5',
    solid: false,
  },
  download: { path: 'M12 3v12M7 10l5 5 5-5M4 20h16', solid: false },
  disc: { path: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z', solid: false },
  build: {
    path: 'M14.5 6.5a4 4 0 0 1 5-1l-3 3 .5 1.5 1.5.5 3-3a4 4 0 0 1-5.5 5L8 20.5a2.1 2.1 0 0 1-3-3l8-8',
    solid: false,
  },
  columns: { path: 'M4 5h16v14H4zM9.3 5v14M14.7 5v14', solid: false },
  search: { path: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20.5 20.5', solid: false },
  sun: {
    path: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
    solid: false,
  },
  moon: { path: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z', solid: false },
  system: { path: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16', solid: false },
  tasks: {
    path: 'M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M11.5 6.5H20M11.5 12.5H20M11.5 18.5H20',
    solid: false,
  },
  user: { path: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5a7.5 7.5 0 0 1 15 0', solid: false },
  lock: { path: 'M6 11h12v9.5H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3', solid: false },
  eye: {
    path: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
    solid: false,
  },
  next: { path: 'M9.5 6l6 6-6 6', solid: false },
  expandDown: { path: 'M6.5 9.5l5.5 5.5 5.5-5.5', solid: false },
  info: { path: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5.5M12 7.5v.4', solid: false },
  back: { path: 'M19 12H5M11 6l-6 6 6 6', solid: false },
} as const;

export type IconName = keyof typeof ICONS;
