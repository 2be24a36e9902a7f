export default { displayName: 'backups', preset: '../../jest.preset.js' };
