export default { displayName: 'restic-repository', preset: '../../jest.preset.js' };
