/**
 * One rule such as `.group > * + *` is enough, and whenever an element comes or goes, anywhere in the page, the browser works
 * out the style of everything below its parent anew: in a list that is scrolled, every row in each frame. `:first-child`
 * says the same and costs the neighbour only.
 */
export const spareSiblings = {
  name: 'spare-siblings',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'asset' && file.fileName.endsWith('.css')) {
        file.source = withoutUniversalSiblings(String(file.source));
        const [left] = /[^{},]*\*\s*[+~]\s*\*[^{]*/.exec(file.source) ?? [];
        if (left) this.error(`The style sheet has a rule about any element after any: ${left}`);
      }
    }
  },
};

/** @param {string} css minified */
export const withoutUniversalSiblings = (css) => css.replace(/(?<=[\w)\]])>\*[+~]\*(?=[,{])/g, '>:not(:first-child)');
