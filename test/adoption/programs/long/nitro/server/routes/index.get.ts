export default defineEventHandler(() => 'hello');
