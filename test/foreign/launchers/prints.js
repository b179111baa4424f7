console.log('the program');
