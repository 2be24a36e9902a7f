// Everything in one file, because the tests run it from a temporary folder.
export default { ssr: { noExternal: true } };
