export default { displayName: 'syslog', preset: '../../jest.preset.js' };
