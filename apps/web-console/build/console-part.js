/** The service serves only four paths. The console libraries are loaded later, from one of them, with a query. */
const FILE = 'screen-libraries.js';
const ADDRESS = './app.js?part=consoles';

export const consolePart = {
  name: 'console-part',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const part = bundle[FILE];
    if (!part || part.imports.length > 0) this.error(`${FILE} must exist and must not import anything.`);
    const app = bundle['app.js'];
    const code = app.code.replace(/import\(([`"'])\.\/screen-libraries\.js\1\)/, `import("${ADDRESS}")`);
    if (code === app.code) this.error(`app.js does not import ${FILE}.`);
    app.code = code;
  },
};
