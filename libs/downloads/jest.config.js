export default { displayName: 'downloads', preset: '../../jest.preset.js' };
