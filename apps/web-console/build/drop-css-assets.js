/** PatternFly's style sheets name fonts and pictures. The console asks nobody for anything: both are dropped. */
export const dropCssAssets = {
  name: 'drop-css-assets',
  enforce: 'pre',
  transform(code, id) {
    if (!/@patternfly\/.*\.css$/.test(id)) return null;
    return code.replace(/@font-face\s*{[^}]*}/g, '').replace(/url\((["']?)(?!data:|#)[^)]*\1\)/g, 'none');
  },
};
