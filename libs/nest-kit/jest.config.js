export default { displayName: 'nest-kit', preset: '../../jest.preset.js' };
