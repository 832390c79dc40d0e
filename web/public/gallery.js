// The gallery's code is for the host that it is read from; a button copies it.
(function () {
  var here = new URL('./', location.href).href;
  document.querySelectorAll('figure.code').forEach(function (figure) {
    var code = figure.querySelector('pre code');
    if (location.protocol !== 'file:') code.textContent = code.textContent.split('https://example.org/').join(here);
    var button = figure.querySelector('.copy');
    button.hidden = !(navigator.clipboard && navigator.clipboard.writeText);
    button.addEventListener('click', function () {
      navigator.clipboard.writeText(code.textContent).then(function () {
        button.dataset.done = '';
        setTimeout(function () { delete button.dataset.done; }, 2000);
      }, function () { getSelection().selectAllChildren(code); });
    });
  });
})();
