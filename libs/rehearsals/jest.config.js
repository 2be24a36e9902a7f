export default { displayName: 'rehearsals', preset: '../../jest.preset.js' };
