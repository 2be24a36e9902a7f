export default { displayName: 'consoles', preset: '../../jest.preset.js' };
