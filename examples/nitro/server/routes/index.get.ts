export default defineEventHandler(() => 'hello\n');
