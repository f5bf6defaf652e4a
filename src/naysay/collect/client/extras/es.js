// What is seldom read, in Spanish; keys as in en.js.

export default {
  promises: {
    device: "En las preguntas privadas decide el azar: en este dispositivo, o por su propia mano donde la pregunta lo dice. Solo se envía el resultado. Puede ser su respuesta verdadera. Cada pregunta dice cuánto revela.",
    confirm: "Ninguna de sus respuestas se envía antes de que usted lo haya visto y confirmado.",
    shown: "Se envía exactamente lo que se le muestra, byte por byte.",
    once: "El azar sortea una sola vez para cada respuesta y cada paso del control. Si vuelve atrás, recarga o cambia de opinión, no sortea otra vez. Otro día, o si el servidor se ha reiniciado, el azar sortea de nuevo lo no enviado.",
    kept: "Este dispositivo nunca guarda sus respuestas privadas. Lo que el azar sortea para ellas está aquí cifrado hasta que usted envíe; después, su recibo. El servidor olvida la clave en 26 horas. Después nadie puede leerlo.",
    size: "Las respuestas de todos se envían en mensajes de la misma longitud, para que el tamaño no diga nada.",
    plain: "Las preguntas marcadas con «Se envía sin cambios» se envían tal como usted las responde.",
    others: "No hay cookies, y nada viene de otros sitios web.",
  },

  together: {
    title: "Todas las respuestas privadas juntas",
    odds: "Con una sola respuesta, para quien no sabía nada, las probabilidades relativas de una opción se multiplican como máximo por {odds}. Quien sabía más puede averiguar más.",
    adds: "Las respuestas se suman. Juntas pueden revelar más que cada una por sí sola.",
    bits: "Juntas revelan como máximo {bits} bits.",
  },

  fingerprint: {
    title: "Huella de esta encuesta",
    why: "Representa todas las preguntas y el código de esta página. Es la misma para quienes reciben las mismas preguntas. Figurará en su recibo.",
  },

  check: {
    right: "Correcto.",
    wrong: "No del todo. Lo correcto es {answer}.",
  },

  beside: {
    second: "La segunda pregunta:",
    crosswise: "Responda a las dos en su mente y toque solo si sus dos respuestas son iguales.",
    triangular: "Responda a las dos en su mente y toque solo si al menos una respuesta es sí.",
    coin: "Lance una moneda. Cara: responda a la pregunta de arriba. Cruz: responda a la de abajo.",
    die: "Tire un dado. {above}: responda a la pregunta de arriba. {below}: responda a la de abajo.",
    neither: "{neither} muestra que su respuesta es no.",
    knows: "Su respuesta a la segunda pregunta oculta la primera. Quien conozca esa respuesta quizá pueda deducir la primera.",
    same: "Solo se envía si sus dos respuestas son iguales.",
    why: "Con solo esto, cualquier respuesta podría ser la suya.",
  },

  byHand: {
    safe: "Usted mismo oculta las respuestas privadas: este dispositivo nunca conoce las verdaderas.",
  },

  reveals: {
    does: "En este nivel, lo que se envía puede mostrar su respuesta verdadera.",
    level: "Puede mostrar su respuesta",
    leaves: "Esto revela su respuesta.",
  },

  preview: {
    mark: "Esto es una vista previa para probar. No envía nada.",
    sent: "Esto es una vista previa: no se ha enviado nada.",
    anew: "Empezar de nuevo",
  },

  among: {
    level: "{share} de 100 incluyen la suya",
    how: "Piense en 100 personas que eligen todas {own}. Lo que se envía menciona {own}, entre otras, en unas {count} de ellas; en las otras {rest}, no.",
  },

  compares: {
    does: "Este dispositivo sortea un sí o un no. Solo dice si su respuesta coincide o no.",
    sent: "Se enviará la comparación con un sí o un no al azar: {words}",
    leaves: "Su propia respuesta se queda aquí. Nadie puede estar seguro de ella.",
  },

  loud: {
    does: "El azar puede cambiar su respuesta en este dispositivo. Aun así, lo enviado revela mucho de ella.",
    level: "Revela mucho de usted",
    leaves: "Esto revela mucho de su respuesta.",
    how: "Esto revela mucho de su respuesta: las probabilidades relativas de una opción pueden multiplicarse por {odds}.",
  },

  refuses: {
    insecure: "Esta página llegó por una conexión que no es segura, así que no pregunta nada. Por favor, abra esta dirección:",
    old: "A este navegador le falta lo que la página necesita para sortear. Por favor, use uno más nuevo.",
    closed: "Está cerrada y ya no acepta respuestas.",
    broken: "Esta página se niega a hacer esta encuesta. La encuesta se contradice o podría revelar respuestas privadas.",
    stranger: "El servidor cargó con esta página algo que podría leer lo que usted responde. Por eso no pregunta nada.",
    held: "Otra página abrió esta, o la muestra dentro de sí, y podría leer lo que usted responde. Por favor, cierre ambas y abra esta dirección por separado:",
  },
};
